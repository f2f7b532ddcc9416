package causes

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Model is the time that the tasks of a phase should take by their bytes: Base + PerByte*bytes + PerRemote*remote.
// The zero value is the model of a phase without tasks.
type Model struct {
	// Base is the time of a task that reads nothing.
	Base time.Duration
	// PerByte is the number of seconds that each byte takes. PerRemote is the number of seconds that a byte takes
	// in addition if it comes from another rack.
	PerByte, PerRemote float64
	// Explained is the share of the phase's finished tasks whose time is within Config.Residual of the model, for
	// example within 20 %.
	Explained float64
}

func (m *Model) wire(c *wire.Codec) {
	c.When(true).Duration("base", &m.Base)
	c.When(true).Float("per-byte", &m.PerByte)
	c.When(true).Float("per-remote", &m.PerRemote)
	c.When(true).Float("explained", &m.Explained)
}

// String returns the model as one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (m Model) String() string               { return wire.Line(m.wire) }
func (m Model) LogValue() slog.Value         { return wire.Log(m.wire) }
func (m Model) MarshalJSON() ([]byte, error) { return wire.JSON(m.wire) }

const (
	trimmed = 1.5 // x the time by the model; tasks that take longer are left out of the next fit
	// x the mean task's time; the shortest time that the model expects, so that no ratio is absurdly large.
	leastPart = 0.01
	mostFits  = 6 // the largest number of fits; in practice two or three are enough
	columns   = 3 // 1, bytes, remote bytes
	// leastUse is a number of tasks. If fewer tasks have remote bytes, the model ignores remote bytes, because a
	// coefficient for one or two tasks could explain any time. If a machine or a cohort has fewer tasks, it is not
	// at fault.
	leastUse = 3
)

// coefficients are the three coefficients of a model, or the three numbers of a task that they multiply: 1, bytes
// and remote bytes. Bytes are in units of the phase's mean bytes, and remote bytes are in units of its mean remote
// bytes.
type coefficients [columns]float64

// row is one task in a fit: the numbers on which its time depends, and its time in seconds.
type row struct {
	x       coefficients
	seconds float64
}

func (c *coefficients) at(x *coefficients) float64 {
	return c[0] + float64(c[1]*x[1]) + float64(c[2]*x[2])
}

// fit returns the model that fits the rows best, by trimmed least squares of the relative error. Mantri uses plain
// least squares [§4.2, footnote 3], and fit begins with plain least squares. Outliers distort the result of plain
// least squares: a task that is ten times too slow has as much weight as a hundred other tasks.
func fit(rows []row, residual float64) coefficients {
	if len(rows) == 0 {
		return coefficients{1}
	}
	c := refine(rows, plain(rows))
	c.fitToExplained(rows, residual)
	return c
}

// hash returns a pseudo-random number for i, by the last step (the finaliser) of the generator splitmix64.
func hash(i int) uint64 {
	h := uint64(i+1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// refine repeats the fit until nothing changes, at most mostFits times. Each fit leaves out the rows that take over 1.5
// times the time expected by the previous fit.
func refine(rows []row, c coefficients) coefficients {
	for range mostFits {
		next, ok := refit(rows, &c, 0, trimmed)
		if !ok || next == c {
			break
		}
		c = next
	}
	return c
}

// plain returns plain least squares of all rows, the fit of the paper.
func plain(rows []row) coefficients {
	var e equations
	for i := range rows {
		e.add(&rows[i].x, rows[i].seconds)
	}
	c, _ := e.solve()
	return c
}

// refit returns least squares of the relative error. A row takes part in the fit if its time is from low to high
// times the time expected by the coefficients c.
func refit(rows []row, c *coefficients, low, high float64) (coefficients, bool) {
	var e equations
	floor := c.floor()
	for i := range rows {
		r := &rows[i]
		expected := max(c.at(&r.x), floor)
		if r.seconds > high*expected || r.seconds < low*expected {
			continue
		}
		weight := 1 / expected
		e.add(&coefficients{weight, r.x[1] * weight, r.x[2] * weight}, r.seconds*weight)
	}
	return e.solve()
}

// fitToExplained scales the model so that the median task takes its expected time. Then fitToExplained fits the
// model to the explained rows only, so that rows which the model does not explain cannot distort it.
func (c *coefficients) fitToExplained(rows []row, residual float64) {
	c.calibrate(rows)
	for range 3 {
		if next, ok := refit(rows, c, 1-residual, 1+residual); ok {
			*c = next
		}
	}
}

// floor returns the shortest time that the model may expect, in seconds: a hundredth of the time expected for the
// mean task. All columns are in units of their mean. So all columns of the mean task are 1, and the time expected
// for it is the sum of the coefficients.
func (c *coefficients) floor() float64 {
	return max(leastPart*(c[0]+c[1]+c[2]), 1e-9)
}

// calibrate multiplies the coefficients by one factor, so that the median of time/expected becomes 1.
func (c *coefficients) calibrate(rows []row) {
	ratios, floor := make([]float64, len(rows)), c.floor()
	for i := range rows {
		ratios[i] = rows[i].seconds / max(c.at(&rows[i].x), floor)
	}
	scale := Median(ratios)
	for i := range c {
		c[i] *= scale
	}
}
