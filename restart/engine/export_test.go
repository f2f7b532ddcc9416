package engine

// GivenUp returns all tasks that were given up so far.
func (p *Phase) GivenUp() (tasks []int) {
	for i := range p.book.tasks {
		if p.book.tasks[i].givenUp {
			tasks = append(tasks, i)
		}
	}
	return tasks
}

// Resting returns what the next Turn would have as its Rests if nothing else happened.
func (p *Phase) Resting() []Rest { return p.listRests(nil) }

// Gone reports whether the phase counts the attempt as ended because it was missing from the lists for the time Trace,
// and returns its task.
func (p *Phase) Gone(id string) (task int, gone bool) {
	a := p.book.attempts[id]
	if a == nil {
		return 0, false
	}
	return a.task, a.gone
}
