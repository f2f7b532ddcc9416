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

// runDir is the directory of one call of Run, on a file system that all nodes share. The directory contains these
// files for each attempt; 71_5 is the name of an attempt:
//
//	71_5.begun     empty; made when the script begins
//	71_5.progress  the progress, as the script reports it
//	71_5.signal    the last signal that the wrapper has passed on
//	71_5.exit      the exit code, after the script's end, and the name of a signal that told the script to stop
//	71_5.out/      the result files
//	3.2.stdout     the output of a copy; an original prints to the file that sbatch has chosen
type runDir struct {
	path    string
	entries map[string]bool // the names of the files that the last call of list found
	ahead   time.Duration   // the time by the file system's clock minus the time by this process's clock
}

// newRunDir makes a new run directory below parent. It writes a copy of the user's script into the directory, so that
// the user may edit the script while the array runs.
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

// file returns the path of an attempt's file. kind is the end of the file's name: begun, progress, exit, out or
// stdout.
func (d *runDir) file(attempt, kind string) string { return filepath.Join(d.path, attempt+"."+kind) }

// jobSuffix is the end of the name of a directory in the run directory. Such a directory contains the batch script of
// one attempt.
const jobSuffix = ".job"

// writeScript writes an attempt's batch script to a file, for sbatch, and returns the file's path. The file has the
// same name as the user's script, because sbatch uses the name of the file as the default name of the job.
func (d *runDir) writeScript(attempt, name string, content []byte) (string, error) {
	sub := filepath.Join(d.path, attempt+jobSuffix)
	if err := os.MkdirAll(sub, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(sub, filepath.Base(name))
	return path, os.WriteFile(path, content, 0o700)
}

// list reads the names of all files in the run directory into d.entries. It lists the whole directory, because then a
// network file system asks its server. For a single file, a network file system may give an old answer from its
// cache.
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

// fileState is the state of an attempt, as far as its files in the run directory show it.
type fileState struct {
	begun, end time.Time // when the script began and ended; zero: not yet
	code       int       // the exit code of the script, after its end
	stopped    bool      // before the script ended, a signal had told it to stop
}

// fileState reads the state of an attempt from the attempt's begun file and exit file.
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

// whole reports whether the result is complete: the script has ended with the exit code 0, and no signal had told it
// to stop.
func (f fileState) whole() bool { return !f.end.IsZero() && f.code == 0 && !f.stopped }

// progress reads an attempt's progress file. It returns the share of the attempt's work that is done, from 0 to 1,
// and the time of this report. The time is zero if there is no report.
func (d *runDir) progress(attempt string) (share float64, at time.Time, err error) {
	text, at, ok := d.read(attempt, "progress")
	if text = strings.TrimSpace(text); !ok || text == "" { // an empty file: the script is just writing it
		return 0, time.Time{}, nil
	}
	if share, err = parseProgress(text); err != nil {
		return 0, time.Time{}, err
	}
	return share, at, nil
}

// parseProgress converts a share such as "0.4", or a quotient such as "40/100", to a number from 0 to 1.
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

// maxFileText is the largest number of bytes that the method read reads from a file. A progress file or an exit file
// contains far fewer bytes.
const maxFileText = 256

// read returns the text of an attempt's file and the time at which the file was written, by this process's clock.
// kind is the end of the file's name, such as "exit". read opens the file before it asks for the time, because
// otherwise a network file system may give an old time from its cache. ok is false if the file can't be read.
func (d *runDir) read(attempt, kind string) (text string, at time.Time, ok bool) {
	if !d.entries[attempt+"."+kind] {
		return "", at, false
	}
	// O_NONBLOCK: if the user has put a pipe there, OpenFile does not wait
	file, err := os.OpenFile(d.file(attempt, kind), os.O_RDONLY|syscall.O_NONBLOCK, 0)
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

// size returns the number of bytes that an attempt has written so far: the size of the file stdout plus the sizes of
// the attempt's result files.
func (d *runDir) size(attempt, stdout string) int64 {
	var sum int64
	if info, err := os.Stat(stdout); err == nil && info.Mode().IsRegular() {
		sum = info.Size()
	}
	_ = filepath.WalkDir(d.file(attempt, "out"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // the script may remove files while WalkDir runs
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// remove removes the run directory. An attempt that is being killed may still write into the directory. So remove
// tries again for two seconds if it fails.
func (d *runDir) remove() (err error) {
	for range 20 {
		if err = os.RemoveAll(d.path); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}
