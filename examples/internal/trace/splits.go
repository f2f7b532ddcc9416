package trace

// mostSplits is the largest length of a list of times; Hadoop writes shorter lists.
const mostSplits = 100

// readSplits reads a list of milliseconds, one for each of a number of equal parts of an attempt's progress. It
// returns nil if one of the times is unknown.
func readSplits(c *cursor) (splits []int64) {
	whole := true
	c.elements(func() {
		n, ok := c.integer()
		whole = whole && ok && n >= 0 && n <= maxTime && len(splits) < mostSplits
		if whole {
			splits = append(splits, n)
		}
	})
	if !whole {
		return nil
	}
	return splits
}

// splits stores a list and returns its index; 0 for an empty list.
func (b *builder) splits(list []int64) int32 {
	if len(list) == 0 {
		return 0
	}
	if b.log.Splits == nil {
		b.log.Splits = make([][]int64, 1)
	}
	b.log.Splits = append(b.log.Splits, list)
	return int32(len(b.log.Splits) - 1)
}
