package tracker

// candidates are the tasks whose last decision was Duplicate, or would have been but for the slot, in no order of
// meaning.
type candidates struct {
	list  []int32
	tasks []taskState // the book's
}

func (c *candidates) add(task int32) {
	if s := &c.tasks[task]; s.candidate == none {
		s.candidate = int32(len(c.list))
		c.list = append(c.list, task)
	}
}

// drop fills the gap with the last one.
func (c *candidates) drop(task int32) {
	at := c.tasks[task].candidate
	if at == none {
		return
	}
	last := c.list[len(c.list)-1]
	c.list[at] = last
	c.tasks[last].candidate = at
	c.list = c.list[:len(c.list)-1]
	c.tasks[task].candidate = none
}
