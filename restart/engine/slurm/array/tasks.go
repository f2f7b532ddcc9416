package array

import (
	"fmt"
	"strconv"
	"strings"
)

// maxTask is larger than the largest index that Slurm can be configured for.
const maxTask = 4_000_000

// parseTasks reads the indices of an array as Slurm writes them, such as "0-63", "1,3,9-11", "0-62:2" or "0-63%4". It
// appends the indices to dst in their order.
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
