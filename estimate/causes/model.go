package causes

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Model is the time that a phase's tasks should take by their bytes: Base + PerByte*bytes + PerRemote*remote. The
// zero value is the model of a phase without a task.
type Model struct {
	// Base is the time of a task that reads nothing.
	Base time.Duration
	// PerByte is the seconds that each byte takes. PerRemote is the additional seconds of each byte from another
	// rack.
	PerByte, PerRemote float64
	// Explained is the share of the phase's finished tasks that are within Config.Residual of the model.
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
	trimmed   = 1.5  // x the model; longer tasks are left out of its fit
	leastPart = 0.01 // x the mean task's time; the model expects at least this, so that no ratio is absurd
	mostFits  = 6    // fits, at most; in practice two or three are enough
	columns   = 3    // 1, bytes, remote
	// tasks with remote bytes; with fewer there is no remote column, because they would explain themselves
	leastUse = 3
)

// coefficients are the coefficients of a model. The columns are in units of the mean bytes and mean remote bytes.
type coefficients [columns]float64

// row is one task in a fit: its columns and its seconds.
type row struct {
	x       coefficients
	seconds float64
}

func (c *coefficients) at(x *coefficients) float64 {
	return c[0] + float64(c[1]*x[1]) + float64(c[2]*x[2])
}

// fit returns the model of the rows by trimmed least squares of the relative error. Mantri uses plain least squares
// [§4.2, footnote 3], and fit begins with them. Outliers distort plain least squares: a task that is ten times too
// slow weighs as much as a hundred other tasks.
func fit(rows []row, residual float64) coefficients {
	if len(rows) == 0 {
		return coefficients{1}
	}
	c := refine(rows, plain(rows))
	c.fitToExplained(rows, residual)
	return c
}

// hash is the finaliser of splitmix64.
func hash(i int) uint64 {
	h := uint64(i+1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// refine repeats the fit, each time without the rows beyond the trim of the fit before, until nothing changes.
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

// plain returns plain least squares of all rows, the paper's fit.
func plain(rows []row) coefficients {
	var e equations
	for i := range rows {
		e.add(&rows[i].x, rows[i].seconds)
	}
	c, _ := e.solve()
	return c
}

// refit returns least squares of the relative error, fitted to the rows that take from low to high times their
// expected time by c.
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

// fitToExplained scales the model so that the median task takes its expected time, and then fits it to the
// explained rows only. So rows that the model does not explain cannot distort it.
func (c *coefficients) fitToExplained(rows []row, residual float64) {
	c.calibrate(rows)
	for range 3 {
		if next, ok := refit(rows, c, 1-residual, 1+residual); ok {
			*c = next
		}
	}
}

// floor returns the least expected time. The mean task has 1 in each column.
func (c *coefficients) floor() float64 {
	return max(leastPart*(c[0]+c[1]+c[2]), 1e-9)
}

// calibrate scales the model so that the median of time/expected is 1.
func (c *coefficients) calibrate(rows []row) {
	ratios, floor := make([]float64, len(rows)), c.floor()
	for i := range rows {
		ratios[i] = rows[i].seconds / max(c.at(&rows[i].x), floor)
	}
	scale := median(ratios)
	for i := range c {
		c[i] *= scale
	}
}
