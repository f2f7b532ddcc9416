package trace

// mostSplits is more than Hadoop writes; a longer list is not one.
const mostSplits = 100

// readSplits reads a list of the milliseconds that each of some equal parts of an attempt's progress took; nil if one
// of them is not known.
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

// splits keeps what was read and returns its index; 0 for nothing.
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
