package provenance

import "strings"

// LicenseOf takes the user's own words for a licence. They are kept as they
// stand; the SPDX id is set only when they are one, whatever their case.
func LicenseOf(declared string) License {
	l := License{Declared: strings.TrimSpace(declared)}
	for _, id := range spdxIDs() {
		if strings.EqualFold(id, l.Declared) {
			l.SPDX = id
		}
	}
	if s := l.Declared; len(s) > len("LicenseRef-") && strings.HasPrefix(s, "LicenseRef-") && !strings.ContainsAny(s, " \t") {
		l.SPDX = s
	}
	return l
}

// spdxIDs are the ids that data and its tools are commonly under.
func spdxIDs() []string {
	return []string{
		"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "MPL-2.0", "ISC", "Unlicense", "0BSD",
		"GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "LGPL-3.0-only", "AGPL-3.0-only", "GFDL-1.3-or-later",
		"CC0-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0",
		"CC-BY-NC-ND-4.0", "CC-BY-ND-4.0", "CC-PDDC", "PDDL-1.0", "ODbL-1.0", "ODC-By-1.0", "CDLA-Permissive-2.0", "CDLA-Permissive-1.0",
		"CDLA-Sharing-1.0", "OGL-UK-3.0", "MulanPSL-2.0", "MulanPubL-2.0",
	}
}
