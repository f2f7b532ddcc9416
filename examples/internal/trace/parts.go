package trace

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// part is one file of a rolled log. A compacted file replaces all files up to its own number.
type part struct {
	name      string
	number    int64 // 0 of a log whose files carry dates
	compacted bool
}

var (
	sparkPart      = regexp.MustCompile(`^events_([1-9][0-9]{0,17})_`)
	databricksPart = regexp.MustCompile(`^eventlog(-[0-9]{4}-[0-9]{2}-[0-9]{2}--[0-9]{2}-[0-9]{2}.*)?$`)
	sparkOther     = regexp.MustCompile(`^(events|appstatus)_`) // other files of a rolled log of Spark
)

func isPart(name string) bool {
	return sparkOther.MatchString(name) || databricksPart.MatchString(name)
}

// partsOf returns the names in a directory that are parts of one log. They are Spark's events_<n>_<application>, by
// n, or Databricks' eventlog-<date>, by date, and then eventlog, which was written last.
func partsOf(names []string) (parts []part) {
	compacted := int64(0)
	for _, name := range names {
		if m := sparkPart.FindStringSubmatch(name); m != nil {
			n, _ := strconv.ParseInt(m[1], 10, 64) // it is a number of 18 digits at most
			p := part{name, n, strings.HasSuffix(name, ".compact")}
			if p.compacted {
				compacted = max(compacted, n)
			}
			parts = append(parts, p)
		}
	}
	if parts != nil {
		parts = slices.DeleteFunc(parts, func(p part) bool {
			return p.number < compacted || p.number == compacted && !p.compacted
		})
		slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.number, b.number) })
		return parts
	}
	for _, name := range names {
		if databricksPart.MatchString(name) {
			parts = append(parts, part{name: name})
		}
	}
	// The file without a date is a prefix of the others, and the last of them.
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(dated(a.name), dated(b.name)), cmp.Compare(a.name, b.name))
	})
	return parts
}

func dated(name string) int {
	if strings.HasPrefix(name, "eventlog-") {
		return 0
	}
	return 1
}

// readParts reads the files of a rolled log as one log.
func readParts(dir string, parts []part) (*Log, error) {
	s := newSpark()
	var failed []error
	for i, p := range parts {
		if p.number > 0 && !p.compacted {
			before := int64(0)
			if i > 0 {
				before = parts[i-1].number
			}
			s.log.Faults[MissingLog] += int(min(max(p.number-before-1, 0), math.MaxInt32))
		}
		path := filepath.Join(dir, p.name)
		if err := s.file(path); err != nil {
			s.log.Faults[BadLog]++
			failed = append(failed, fmt.Errorf("%s: %w", Printable(path), err))
		}
	}
	if len(failed) == len(parts) {
		return nil, failed[0]
	}
	for _, err := range failed {
		s.hint(err.Error())
	}
	return s.finish(), nil
}

// file reads one file of a rolled log. An empty file was created and not yet written.
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
	defer in.close()
	if err != nil {
		return err
	}
	s.read(newLineReader(in, maxRecord, unwantedEvent))
	return in.end(s.log)
}
