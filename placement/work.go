package placement

// work is the number of steps that a search or a proof may still do. A step takes about stepTime.
type work struct{ left int64 }

// take subtracts steps from the number of steps that are left, and returns true. If too few steps are left, it
// subtracts nothing and returns false. Call take before the work is done.
func (w *work) take(steps int64) bool {
	if steps > w.left {
		return false
	}
	w.left -= steps
	return true
}

// stepsOfAPair is how many steps of work a round of the linear program takes for each pair of a task and a rack.
const stepsOfAPair = 3
