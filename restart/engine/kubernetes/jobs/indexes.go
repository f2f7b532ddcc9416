package jobs

import (
	"fmt"
	"strconv"
	"strings"
)

// indexes is a set of completion indexes: indexes[i] says whether i is in the set.
type indexes []bool

// parseIndexes reads a set as a Job's status writes it, such as "0-3,5". parseIndexes leaves out indexes of n or more,
// which a Job has after its completions were reduced. After an error the set holds the indexes before it.
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

// String returns the set as a Job's status writes it: ascending, and three or more successive indexes as a range.
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
