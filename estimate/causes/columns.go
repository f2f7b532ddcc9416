package causes

import "github.com/straggler-go/straggler/internal/num"

// sampled is a number of finished tasks. In a larger phase, the model is not fitted to all tasks, but to a sample
// of about this size.
const sampled = 8192

// measure computes the time of each task, and the unit of each column of the model. The columns are a constant, the
// bytes and the remote bytes. The unit of a column is its mean.
func (a *analysis) measure() {
	a.unit = coefficients{1}
	var known, sums coefficients
	for i := range a.phase.Tasks {
		t := &a.phase.Tasks[i]
		if a.took[i] = -1; t.Took <= 0 {
			continue
		}
		ran, waited := t.run()
		a.took[i], a.ran[i] = ran+waited, ran
		if t.Censored {
			continue
		}
		a.finished++
		for column, x := range [columns]float64{0, t.Bytes, t.Remote} {
			if x = units(x); x > 0 {
				known[column]++
				sums[column] += x
			}
		}
	}
	if known[2] < leastUse {
		sums[2] = 0
	}
	for column := 1; column < columns; column++ {
		if sums[column] > 0 {
			a.unit[column] = known[column] / sums[column]
		}
	}
}

// columns returns the three numbers of a task on which the model depends: 1, its bytes and its remote bytes, both
// divided by their mean. A number that is not known is NaN.
func (a *analysis) columns(t *Task) (x coefficients) {
	x[0] = 1
	if a.unit[1] > 0 {
		x[1] = units(t.Bytes) * a.unit[1]
	}
	if a.unit[2] > 0 {
		x[2] = units(t.Remote) * a.unit[2]
	}
	return x
}

// fit computes the median task, which has the median of each column, and the coefficients of the model.
func (a *analysis) fit() {
	rows := make([]row, 0, min(a.finished, 2*sampled))
	for i := range a.phase.Tasks {
		if t := &a.phase.Tasks[i]; a.took[i] >= 0 && !t.Censored && a.sample(i) {
			rows = append(rows, row{a.columns(t), a.ran[i]})
		}
	}
	a.medianTask[0] = 1
	values := make([]float64, len(rows))
	for column := 1; column < columns; column++ {
		n := 0
		for i := range rows {
			if x := rows[i].x[column]; x == x {
				values[n] = x
				n++
			}
		}
		a.medianTask[column] = Median(values[:n])
	}
	n := 0
	for i := range rows { // a task with an unknown number is left out of the fit
		if x := &rows[i].x; x[1] == x[1] && x[2] == x[2] {
			rows[n] = rows[i]
			n++
		}
	}
	a.model = fit(rows[:n], a.config.Residual)
	a.floor = a.model.floor()
}

// sample reports whether the model is fitted to task i. In a large phase, a hash of i decides.
func (a *analysis) sample(i int) bool {
	return a.finished <= sampled || hash(i)%uint64(a.finished) < sampled
}

// filled returns the three numbers of a task on which the model depends. If a number of the task is not known,
// filled uses the median over the phase.
func (a *analysis) filled(t *Task) coefficients {
	x := a.columns(t)
	for column := range x {
		if x[column] != x[column] {
			x[column] = a.medianTask[column]
		}
	}
	return x
}

// added returns the seconds that the bytes of task i add to the time of the median task, and the seconds that its
// remote bytes add. Each result is 0 if the task has less than the median task.
func (a *analysis) added(i int) (data, path float64) {
	x := a.filled(&a.phase.Tasks[i])
	return max(0, float64(a.model[1]*(x[1]-a.medianTask[1]))), max(0, float64(a.model[2]*(x[2]-a.medianTask[2])))
}

func finite(x float64) float64 {
	if num.Finite(x) {
		return x
	}
	return 0
}
