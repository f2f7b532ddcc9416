package array

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runDir is the directory of a run, on a file system that all nodes share. runDir holds these files for each attempt:
//
//	71_5.begun     empty; made when the script begins
//	71_5.progress  the progress, as the script reports it
//	71_5.exit      the exit code, after the script's end, and the name of a signal that told the script to stop
//	71_5.out/      the result files
//	3.2.stdout     the output of a copy; an original prints to the file that sbatch has chosen
type runDir struct {
	path    string
	entries map[string]bool // the names of the files at the last call of list
	ahead   time.Duration   // how far the file system's clock is ahead of this process's clock
}

// newRunDir makes a directory below parent, with a copy of the script, so that the user may edit the script meanwhile.
func newRunDir(parent string, script []byte) (*runDir, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, ".straggler-")
	if err != nil {
		return nil, err
	}
	d := &runDir{path: path}
	name := filepath.Join(path, "slurm_script")
	if err := os.WriteFile(name, script, 0o700); err != nil {
		return d, err
	}
	info, err := os.Stat(name)
	if err == nil {
		d.ahead = time.Until(info.ModTime())
	}
	return d, err
}

// file returns the path of an attempt's file.
func (d *runDir) file(attempt, kind string) string { return filepath.Join(d.path, attempt+"."+kind) }

// jobSuffix ends the name of the directory of an attempt's batch script.
const jobSuffix = ".job"

// writeScript writes a batch script for sbatch. The file has the name of the user's script, because sbatch uses the
// file's name as the default name of the job.
func (d *runDir) writeScript(attempt, name string, content []byte) (string, error) {
	sub := filepath.Join(d.path, attempt+jobSuffix)
	if err := os.MkdirAll(sub, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(sub, filepath.Base(name))
	return path, os.WriteFile(path, content, 0o700)
}

// list reads the names of all files. For a whole directory a network file system asks its server; for a single file it
// may answer from memory.
func (d *runDir) list() error {
	found, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	d.entries = make(map[string]bool, len(found))
	for _, e := range found {
		d.entries[e.Name()] = true
	}
	return nil
}

// fileState is the state of an attempt by its files.
type fileState struct {
	begun, end time.Time // zero: not yet
	code       int       // the exit code, if end is not zero
	stopped    bool      // a signal had told the script to stop before it ended
}

// fileState reads the begun and exit files of an attempt.
func (d *runDir) fileState(attempt string) (f fileState) {
	_, f.begun, _ = d.read(attempt, "begun")
	text, at, ok := d.read(attempt, "exit")
	words := strings.Fields(text) // "0", or "0 TERM"
	if !ok || len(words) == 0 {
		return f
	}
	if code, err := strconv.Atoi(words[0]); err == nil {
		f.code, f.end, f.stopped = code, at, len(words) > 1
	}
	return f
}

// whole reports whether the script ended by itself and with 0, so that its result is complete.
func (f fileState) whole() bool { return !f.end.IsZero() && f.code == 0 && !f.stopped }

// progress returns the share of its work that an attempt has reported, and the time of the report. The time is zero if
// there is no report.
func (d *runDir) progress(attempt string) (share float64, at time.Time, err error) {
	text, at, ok := d.read(attempt, "progress")
	if text = strings.TrimSpace(text); !ok || text == "" { // empty: the script is writing it
		return 0, time.Time{}, nil
	}
	if share, err = parseProgress(text); err != nil {
		return 0, time.Time{}, err
	}
	return share, at, nil
}

// parseProgress reads a share such as "0.4", or a quotient such as "40/100".
func parseProgress(text string) (float64, error) {
	done, of, isQuotient := strings.Cut(text, "/")
	share, err := strconv.ParseFloat(strings.TrimSpace(done), 64)
	if isQuotient && err == nil {
		var all float64
		all, err = strconv.ParseFloat(strings.TrimSpace(of), 64)
		share /= all
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("the progress is %.40q, want a share from 0 to 1 or a quotient such as 40/100", text)
	}
	return share, nil
}

// maxFileText is how many bytes of a file are read, far more than a progress or exit file holds.
const maxFileText = 256

// read returns the text of a file, and the time when it was written, by this process's clock. The file is opened before
// its time is read; otherwise a network file system may answer from memory.
func (d *runDir) read(attempt, kind string) (text string, at time.Time, ok bool) {
	if !d.entries[attempt+"."+kind] {
		return "", at, false
	}
	file, err := os.OpenFile(d.file(attempt, kind), os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not block on a pipe
	if err != nil {
		return "", at, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", at, false
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFileText))
	return string(content), info.ModTime().Add(-d.ahead), err == nil
}

// size returns the number of bytes that an attempt has printed, plus the bytes of its result files.
func (d *runDir) size(attempt, stdout string) int64 {
	var sum int64
	if info, err := os.Stat(stdout); err == nil && info.Mode().IsRegular() {
		sum = info.Size()
	}
	_ = filepath.WalkDir(d.file(attempt, "out"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // the script may create and remove files meanwhile
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// remove removes the directory. remove tries for two seconds, because an attempt that is being killed may still write
// there.
func (d *runDir) remove() (err error) {
	for range 20 {
		if err = os.RemoveAll(d.path); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}
