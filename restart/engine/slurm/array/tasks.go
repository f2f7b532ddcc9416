package array

import (
	"fmt"
	"strconv"
	"strings"
)

// maxTask is the largest task index that parseTasks accepts. Slurm can't be configured for such large indices.
const maxTask = 4_000_000

// parseTasks appends to dst the indices of an array, in the order of the text. The text has the form of Slurm's
// option --array, such as "0-63", "1,3,9-11", "0-62:2" for every second index, or "0-63%4". The part after % is
// ignored.
func parseTasks(dst []int, text string) ([]int, error) {
	list, _, _ := strings.Cut(text, "%")
	for part := range strings.SplitSeq(list, ",") {
		span, by, stepped := strings.Cut(part, ":")
		low, high, isRange := strings.Cut(span, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		step, err3 := 1, error(nil)
		if stepped {
			step, err3 = strconv.Atoi(by)
		}
		if err1 != nil || err2 != nil || err3 != nil || first < 0 || last < first || last > maxTask || step < 1 {
			return nil, fmt.Errorf("the array's tasks are %q, want a list such as 0-63 or 1,3,9-11 or 0-62:2%%4", text)
		}
		for i, n := first, (last-first)/step; n >= 0; i, n = i+step, n-1 {
			dst = append(dst, i)
		}
	}
	return dst, nil
}
