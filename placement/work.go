package placement

// work is the number of steps that the caller still allows. A step takes about stepTime.
type work struct{ left int64 }

// take spends the steps before the caller makes them. If too few steps are left, take returns false and spends no
// steps.
func (w *work) take(steps int64) bool {
	if steps > w.left {
		return false
	}
	w.left -= steps
	return true
}

// operationsPerStep is the number of floating-point operations of the relaxation in the time of one step of the search.
const operationsPerStep = 3
