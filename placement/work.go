package placement

// work counts down the steps that the caller allows, each of a stepTime.
type work struct{ left int64 }

// take spends steps, before they are made, and reports whether there were enough left; if not, none are spent.
func (w *work) take(steps int64) bool {
	if steps > w.left {
		return false
	}
	w.left -= steps
	return true
}

// operationsPerStep is how many floating-point operations of the relaxation take as long as one step of the search.
const operationsPerStep = 3
