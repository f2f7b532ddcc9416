package tracker

// A task may resume from a checkpoint. A copy counts as one of a task that has only the rest to do: its progress, its
// rate, its samples and its score are of the work that it found. So nothing else has to know of checkpoints.

// part is a share of a task's work, in steps that are small beside what a checkpoint saves.
type part uint16

const (
	parts    = 1 << 16
	mostPart = parts - parts/1024 // however much is saved, something is left: to load it, and to end
)

// of returns the part of an amount of work.
func (p part) of(work float64) float64 { return float64(work * (float64(p) / parts)) }

// save takes note that a checkpoint holds so much of a task's work.
func (t *Tracker) save(s *taskState, work float64) {
	if work > 0 && s.work > 0 {
		t.history(s).saved = part(min(work/s.work*parts, mostPart))
	}
}

// saved returns how much of a task's work a copy that begins now finds done.
func (t *Tracker) saved(s *taskState) part {
	if s.history == none {
		return 0
	}
	return t.histories[s.history].saved
}

// asFound returns a task with the work that was left when so much of it had been saved. It is to be read only, and
// holds until the next call.
func (t *Tracker) asFound(s *taskState, saved part) *taskState {
	if saved == 0 {
		return s
	}
	return t.lessSaved(s, saved)
}

func (t *Tracker) lessSaved(s *taskState, saved part) *taskState {
	if s == &t.rest { // it is less already
		return s
	}
	t.rest = *s
	t.rest.work -= saved.of(s.work)
	return &t.rest
}
