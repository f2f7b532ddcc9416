package trace

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// rolled is one file of a rolling log. A compacted one replaces all up to its own number.
type rolled struct {
	name      string
	number    int
	compacted bool
}

// openRolling reads the files events_<n>_<application> of a directory in the order of n, as one log.
func openRolling(dir string) (*Log, error) {
	files, err := rolledFiles(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: a directory without events_<n>_<application> files; name a log file, or a rolling log directory of Spark", dir)
	}
	s := newSpark()
	for i, file := range files {
		if i > 0 {
			s.log.Faults[MissingLog] += max(file.number-files[i-1].number-1, 0)
		} else if !file.compacted {
			s.log.Faults[MissingLog] += file.number - 1
		}
		path := filepath.Join(dir, file.name)
		if err := s.file(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return s.finish(), nil
}

// rolledFiles lists what is to be read, in order.
func rolledFiles(dir string) ([]rolled, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []rolled
	compacted := 0
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), "events_")
		digits, _, found := strings.Cut(rest, "_")
		number, err := strconv.ParseInt(digits, 10, 32)
		if !ok || !found || err != nil || number < 1 || entry.IsDir() {
			continue
		}
		file := rolled{entry.Name(), int(number), strings.HasSuffix(entry.Name(), ".compact")}
		if file.compacted {
			compacted = max(compacted, file.number)
		}
		files = append(files, file)
	}
	files = slices.DeleteFunc(files, func(f rolled) bool {
		return f.number < compacted || f.number == compacted && !f.compacted
	})
	slices.SortFunc(files, func(a, b rolled) int { return cmp.Compare(a.number, b.number) })
	return files, nil
}

// file takes in one file of a rolling log. One that is empty was begun and not yet written.
func (s *spark) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		return nil
	}
	in, err := newInput(f)
	if err != nil {
		return err
	}
	defer in.close()
	s.read(newLineReader(in, maxRecord, unwantedEvent))
	return in.end(&s.log.Faults)
}
