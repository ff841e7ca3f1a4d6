//go:build !windows

package cli

// systemLocale is empty: the environment says the language.
func systemLocale() string { return "" }
