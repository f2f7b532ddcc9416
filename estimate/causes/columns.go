package causes

import "github.com/straggler-go/straggler/internal/num"

// sampled is the number of tasks beyond which the model is fitted to about as many of them.
const sampled = 8192

// measure fills in times and the units of the columns.
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

// columns returns a task's columns in units of their means, NaN where unknown.
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

// fit finds the usual task and the model.
func (a *analysis) fit() {
	rows := make([]row, 0, min(a.finished, 2*sampled))
	for i := range a.phase.Tasks {
		if t := &a.phase.Tasks[i]; a.took[i] >= 0 && !t.Censored && a.sample(i) {
			rows = append(rows, row{a.columns(t), a.ran[i]})
		}
	}
	a.usual[0] = 1
	values := make([]float64, len(rows))
	for column := 1; column < columns; column++ {
		n := 0
		for i := range rows {
			if x := rows[i].x[column]; x == x {
				values[n] = x
				n++
			}
		}
		a.usual[column] = median(values[:n])
	}
	n := 0
	for i := range rows { // what is not known cannot shape the model
		if x := &rows[i].x; x[1] == x[1] && x[2] == x[2] {
			rows[n] = rows[i]
			n++
		}
	}
	a.model = fit(rows[:n], a.config.Residual)
	a.floor = a.model.floor()
}

// sample says whether a task takes part in the fit of a large phase.
func (a *analysis) sample(i int) bool {
	return a.finished <= sampled || hash(i)%uint64(a.finished) < sampled
}

// filled is a task's columns with what is not known taken from the usual task.
func (a *analysis) filled(t *Task) coefficients {
	x := a.columns(t)
	for column := range x {
		if x[column] != x[column] {
			x[column] = a.usual[column]
		}
	}
	return x
}

// added returns the seconds that bytes and path add to what the usual task takes; 0 if they take something off.
func (a *analysis) added(i int) (data, path float64) {
	x := a.filled(&a.phase.Tasks[i])
	return max(0, float64(a.model[1]*(x[1]-a.usual[1]))), max(0, float64(a.model[2]*(x[2]-a.usual[2])))
}

func finite(x float64) float64 {
	if num.Finite(x) {
		return x
	}
	return 0
}
