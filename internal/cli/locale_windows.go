package cli

import "golang.org/x/sys/windows"

// systemLocale returns the user's display language, for example zh-CN. Windows
// has no LANG.
func systemLocale() string {
	names, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}
