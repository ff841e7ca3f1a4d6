package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCheckFindsADifference(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var stderr bytes.Buffer
	if code := run([]string{"-check", "-dir", dir}, &stderr); code != 1 {
		t.Errorf("empty folder: exit %d, want 1", code)
	}
	if code := run([]string{"-dir", dir}, &stderr); code != 0 {
		t.Fatalf("exit %d\n%s", code, &stderr)
	}
	if code := run([]string{"-check", "-dir", dir}, &stderr); code != 0 {
		t.Errorf("just written: exit %d\n%s", code, &stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "gone.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"-check", "-dir", dir}, &stderr); code != 1 {
		t.Errorf("a page of nothing: exit %d, want 1", code)
	}
}
