package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A wrong command line ends with an exit code and a message. Slurm is not needed, because nothing is submitted.
func TestWrongCommandLinesAreErrors(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	script := write("script", "#!/bin/sh\n")
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"", "usage: straggler-slurm run", exitUsage},
		{"walk", "usage: straggler-slurm run", exitUsage},
		{"run", "no script is given", exitUsage},
		{"run -interval -5s " + script, "Options.Interval is -5s, want a positive duration", exitUsage},
		{"run -interval 5 " + script, `"5"`, exitUsage},
		{"run -slots -1 " + script, "Options.Slots is -1, want 0 or more", exitUsage},
		{"run -expect-bytes -3 " + script, "Options.ExpectBytes is -3, want 0 or more", exitUsage},
		{"run -patience -1s " + script, "Options.Patience is -1s", exitUsage},
		{"run -lag -1s " + script, "Options.Lag is -1s", exitUsage},
		{"run -policy best " + script, `policy "best" is neither "none" nor a policy`, exitUsage},
		{"run -policy late,min-age=-1s " + script, "LATE.MinAge is -1s", exitUsage},
		{"run -sbatch --wait " + script, "Options.Sbatch has --wait, want options other than", exitUsage},
		{"run -work " + write("words", "1\n2\nx\n") + " " + script, `words:3: the size is "x", want a positive number`, exitUsage},
		{"run -work " + write("nan", "NaN\n") + " " + script, `nan:1: the size is "NaN"`, exitUsage},
		{"run -work " + write("huge", "1\n1e999\n") + " " + script, `huge:2: the size is "1e999"`, exitUsage},
		{"run -work " + write("nothing", "") + " " + script, "nothing has no sizes, want a line for each task", exitUsage},
		{"run -work " + write("gap", "1\n\n2\n") + " " + script, `gap:2: the size is ""`, exitUsage},
		{"run -work " + write("long", "1\n"+strings.Repeat("0", 1<<17)) + " " + script, "long:2: ", exitUsage},
		{"run -work " + dir + " " + script, "is a directory", exitUsage},
		{"run -array 0-3 " + filepath.Join(dir, "none"), "no such file", exitTrouble},
		{"run -array 0-3 " + write("empty", ""), "does not begin with #!", exitTrouble},
		{"run -journal " + filepath.Join(dir, "none", "j") + " " + script, "no such file", exitTrouble},
		{"run -help", "-expect-bytes bytes", 0},
	} {
		var said bytes.Buffer
		if code := command(t.Context(), strings.Fields(c.args), io.Discard, &said); code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.args, code, c.code)
		}
		if !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: says %q, want %q in it", c.args, said.String(), c.want)
		}
	}
}

func TestReadWorkReadsASizePerLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "work")
	if err := os.WriteFile(name, []byte("5\r\n 0.5 \n1e300"), 0o600); err != nil {
		t.Fatal(err)
	}
	works, err := readWork(name)
	if err != nil || len(works) != 3 || works[0] != 5 || works[1] != 0.5 || works[2] != 1e300 {
		t.Errorf("read %v, %v", works, err)
	}
}
