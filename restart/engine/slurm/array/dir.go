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

// runDir is the directory of a run, on the file system that the nodes share. In it stand, flat, by attempt:
//
//	71_5.begun     made when the script begins              71_5.out/   its result files
//	71_5.progress  what the script says of its progress     3.2.stdout  what a copy prints; an original prints where
//	71_5.exit      its exit code, once it has ended, and the            sbatch would have it print
//	               signal that told it to stop, if one did
type runDir struct {
	path    string
	entries map[string]bool // what was there at the last list
	ahead   time.Duration   // how far the file system's clock is ahead of this host's
}

// newRunDir makes a directory below parent with a copy of the script, so that it may be edited during the run.
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

func (d *runDir) file(attempt, kind string) string { return filepath.Join(d.path, attempt+"."+kind) }

// jobSuffix ends the name of the directory in which an attempt's batch script is.
const jobSuffix = ".job"

// writeScript writes a batch script for sbatch. The file's name is that of the user's script, which is what sbatch calls
// a job that has no other name.
func (d *runDir) writeScript(attempt, name string, content []byte) (string, error) {
	sub := filepath.Join(d.path, attempt+jobSuffix)
	if err := os.MkdirAll(sub, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(sub, filepath.Base(name))
	return path, os.WriteFile(path, content, 0o700)
}

// list looks at what there is. Reading the whole directory makes a network file system ask its server, where it would
// answer from memory whether a single file is there.
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

// life is what an attempt's files say of it.
type life struct {
	begun, end time.Time // zero: not yet
	code       int       // its exit code, if it has an end
	stopped    bool      // a signal had told it to stop by then
}

func (d *runDir) life(attempt string) (l life) {
	_, l.begun, _ = d.read(attempt, "begun")
	text, at, ok := d.read(attempt, "exit")
	words := strings.Fields(text) // "0", or "0 TERM"
	if !ok || len(words) == 0 {
		return l
	}
	if code, err := strconv.Atoi(words[0]); err == nil {
		l.code, l.end, l.stopped = code, at, len(words) > 1
	}
	return l
}

// whole reports whether the script ran to its end, by itself, and with 0.
func (l life) whole() bool { return !l.end.IsZero() && l.code == 0 && !l.stopped }

// progress returns the share of its work that an attempt says it has done, and when it said so. The time is zero if it has
// not said any yet.
func (d *runDir) progress(attempt string) (share float64, at time.Time, err error) {
	text, at, ok := d.read(attempt, "progress")
	if text = strings.TrimSpace(text); !ok || text == "" { // empty: it is being written
		return 0, time.Time{}, nil
	}
	if share, err = parseProgress(text); err != nil {
		return 0, time.Time{}, err
	}
	return share, at, nil
}

// parseProgress reads "40/100" or "0.4".
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

// maxText is far more than the files hold that are read whole.
const maxText = 256

// read returns what is in a file, and when it was written, by this host's clock. The file is opened before it is asked for
// its time, since a network file system answers from memory otherwise.
func (d *runDir) read(attempt, kind string) (text string, at time.Time, ok bool) {
	if !d.entries[attempt+"."+kind] {
		return "", at, false
	}
	file, err := os.OpenFile(d.file(attempt, kind), os.O_RDONLY|syscall.O_NONBLOCK, 0) // if the script has made a pipe there
	if err != nil {
		return "", at, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", at, false
	}
	content, err := io.ReadAll(io.LimitReader(file, maxText))
	return string(content), info.ModTime().Add(-d.ahead), err == nil
}

// size returns how many bytes an attempt has made: what it has printed, and its result files.
func (d *runDir) size(attempt, stdout string) int64 {
	var sum int64
	if info, err := os.Stat(stdout); err == nil && info.Mode().IsRegular() {
		sum = info.Size()
	}
	_ = filepath.WalkDir(d.file(attempt, "out"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it comes or goes while one looks
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// remove removes the directory. An attempt that is being killed may still write there, for a moment.
func (d *runDir) remove() (err error) {
	for range 20 {
		if err = os.RemoveAll(d.path); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}
