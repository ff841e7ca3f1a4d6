#!/bin/sh
# Counts dedup/contam/background.bin again, on a Debian 12 system. The packages
# and their licences:
#   debian-handbook 11.20220922                CC-BY-SA-3.0 or GPL-2+
#   gnome-user-docs 43.0-2                     CC-BY-SA-3.0
#   libreoffice-help-zh-cn, -en-us 4:7.4.7     MPL-2.0
# Only counts are kept; the texts are removed again.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
for p in debian-handbook=11.20220922 gnome-user-docs=43.0-2 \
  libreoffice-help-zh-cn='4:7.4.7*' libreoffice-help-en-us='4:7.4.7*'; do
  (cd "$tmp" && apt-get download -q "$p")
done
for d in "$tmp"/*.deb; do
  dpkg-deb -x "$d" "$tmp/x"
done
go run ./scripts/background -o dedup/contam/background.bin \
  "$tmp/x/usr/share/doc/debian-handbook/html/zh-CN" "$tmp/x/usr/share/doc/debian-handbook/html/en-US" \
  "$tmp/x/usr/share/help/zh_CN" "$tmp/x/usr/share/help/C" \
  "$tmp/x/usr/share/libreoffice/help/zh-CN" "$tmp/x/usr/share/libreoffice/help/en-US"
