package causes

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Model is the time that a phase's tasks should take by their bytes: Base + PerByte*bytes + PerRemote*remote. The zero
// value is that of a phase without a task.
type Model struct {
	// Base is the time of a task that reads nothing.
	Base time.Duration
	// PerByte and PerRemote are the seconds that each byte takes, and each byte from another rack takes besides.
	PerByte, PerRemote float64
	// Explained is the share of the phase's finished tasks whose time is within Config.Residual of the model's.
	Explained float64
}

func (m *Model) wire(c *wire.Codec) {
	c.When(true).Duration("base", &m.Base)
	c.When(true).Float("per-byte", &m.PerByte)
	c.When(true).Float("per-remote", &m.PerRemote)
	c.When(true).Float("explained", &m.Explained)
}

// String returns the model as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (m Model) String() string                   { return wire.Line(m.wire) }
func (m Model) LogValue() slog.Value             { return wire.Log(m.wire) }
func (m Model) MarshalJSON() ([]byte, error)     { return wire.JSON(m.wire) }
func (m *Model) UnmarshalJSON(data []byte) error { return wire.Read(data, m, (*Model).wire) }
func (m *Model) UnmarshalText(line []byte) error { return wire.Scan(line, m, (*Model).wire) }

const (
	trimmed   = 1.5  // tasks beyond this times the model do not count in its fit
	leastPart = 0.01 // of the typical time: the least that the model may expect, so that no ratio is absurd
	columns   = 3    // 1, bytes, remote
	leastUse  = 3    // tasks with remote bytes that make a column of them: fewer would explain themselves
)

// coefficients of a model in units of the mean bytes and remote bytes.
type coefficients [columns]float64

// row is one task in a fit: its columns and its seconds.
type row struct {
	x       coefficients
	seconds float64
}

func (c *coefficients) at(x *coefficients) float64 {
	return c[0] + float64(c[1]*x[1]) + float64(c[2]*x[2])
}

// fit finds the model of the rows by trimmed least squares of the relative error. Mantri has plain least squares [§4.2,
// footnote 3], with which this begins; outliers bend that, since a task ten times too slow weighs as much as a hundred
// that are not. A fit of large phases begins with some of the rows.
func fit(rows []row, residual float64) coefficients {
	if len(rows) == 0 {
		return coefficients{1}
	}
	some := pick(rows)
	c := refine(some, plain(some), 6)
	if len(some) < len(rows) {
		c = refine(rows, c, 2)
	}
	c.settle(rows, residual)
	return c
}

// picked is the number of rows with which a fit begins.
const picked = 256

// pick returns the rows if they are few, and otherwise one of each of 256 equal stretches, at a place that a hash
// gives: neighbours may be alike, and so may every k-th row.
func pick(rows []row) []row {
	if len(rows) <= picked {
		return rows
	}
	some := make([]row, picked)
	for k := range some {
		from, to := k*len(rows)/picked, (k+1)*len(rows)/picked
		some[k] = rows[from+int(hash(k)%uint64(to-from))]
	}
	return some
}

// hash is the finaliser of splitmix64.
func hash(i int) uint64 {
	h := uint64(i+1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// refine fits again and again, each time without what is beyond the trim of the last fit, until nothing changes.
func refine(rows []row, c coefficients, times int) coefficients {
	for range times {
		next, ok := refit(rows, &c, 0, trimmed)
		if !ok || next == c {
			break
		}
		c = next
	}
	return c
}

// plain is least squares of all rows alike, as the paper has it.
func plain(rows []row) coefficients {
	var e equations
	for i := range rows {
		e.add(&rows[i].x, rows[i].seconds)
	}
	c, _ := e.solve()
	return c
}

// refit is a least squares of the relative error to the rows that take from low to high times what c expects.
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

// settle scales the model so that the median task takes what it expects, and then fits to what it explains, so that
// what it does not cannot bend it.
func (c *coefficients) settle(rows []row, residual float64) {
	c.calibrate(rows)
	for range 3 {
		if next, ok := refit(rows, c, 1-residual, 1+residual); ok {
			*c = next
		}
	}
}

// floor is the least that the model may expect; the mean task has one unit in each column.
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
