package jobs

import (
	"fmt"
	"strconv"
	"strings"
)

// indexes is a set of completion indexes: element i is true if the set contains the index i.
type indexes []bool

// parseIndexes parses a set of indexes in the form that a Job's status has, such as "0-3,5". It ignores indexes of n
// or more, because a Job's status may contain such indexes after its completions were reduced. If the text has an
// error, the returned set contains the indexes before the error.
func parseIndexes(text string, n int) (indexes, error) {
	set := make(indexes, n)
	if text == "" {
		return set, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 31)
		if err != nil {
			return set, fmt.Errorf("indexes %q: %w", text, err)
		}
		to, err := strconv.ParseUint(high, 10, 31)
		if err != nil {
			return set, fmt.Errorf("indexes %q: %w", text, err)
		}
		for i := from; i <= to && i < uint64(n); i++ {
			set[i] = true
		}
	}
	return set, nil
}

// String returns the set in the form that a Job's status has, such as "0-3,5,6": in ascending order, with a range for
// three or more successive indexes.
func (s indexes) String() string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if !s[i] {
			continue
		}
		last := i
		for last+1 < len(s) && s[last+1] {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i))
		if last > i {
			b.WriteByte(",-"[min(last-i-1, 1)])
			b.WriteString(strconv.Itoa(last))
		}
		i = last
	}
	return b.String()
}

// count returns the number of indexes in the set.
func (s indexes) count() (n int) {
	for _, in := range s {
		if in {
			n++
		}
	}
	return n
}
