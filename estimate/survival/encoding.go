package survival

import (
	"math"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// snapshotVersion is the version of the format of the snapshots of a shape and of a trail.
const snapshotVersion = 2

// AppendBinary appends a snapshot of the shape to dst. The snapshot does not contain the shape of the kind (of all
// phases that do the same work). AppendBinary never fails. O(1), about 1 kB.
func (s *Shape) AppendBinary(dst []byte) ([]byte, error) {
	c := snapshot.Codec{Dst: append(dst, snapshotVersion)}
	s.code(&c)
	return snapshot.Seal(c.Dst, len(dst)), nil
}

// MarshalBinary returns a snapshot of the shape; see [Shape.AppendBinary].
func (s *Shape) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary sets the shape from a snapshot. If s was made by [Shape.Phase], the shape of its kind continues to
// learn from s. If data is not a snapshot, UnmarshalBinary returns an error and changes nothing. O(1).
func (s *Shape) UnmarshalBinary(data []byte) error {
	c := snapshot.Codec{In: snapshot.NewReader("estimate/survival: Shape", snapshotVersion, data)}
	read := Shape{kind: s.kind}
	read.code(&c)
	if err := c.In.Close(); err != nil {
		return err
	}
	*s = read
	return nil
}

// code encodes the shape into the codec, or decodes the shape from the codec, depending on the direction of the
// codec.
func (s *Shape) code(c *snapshot.Codec) {
	for k := 1; k < Parts; k++ {
		c.Real(&s.offsets[k])
		c.Check(s.offsets[k] >= -1 && s.offsets[k] <= 1, "holds an offset outside [-1, 1]")
	}
	c.Amount(&s.attempts)
	c.Check(s.attempts <= shapeMemory, "counts more than 50 attempts in the mean shape")
	c.Bool(&s.bent)
	c.Number(&s.finished, 0, snapshot.Any)
	for k := range s.places {
		snapshot.Small(c, &s.places[k], 0, math.MaxInt32)
	}
	errors := [Parts + 1]ring{}
	if s.errors != nil {
		errors = *s.errors
	}
	for k := range errors {
		r := &errors[k]
		c.Number(&r.seen, 0, snapshot.Any)
		for i := range r.kept() {
			c.Amount32(&r.ratio[i])
			c.Check(r.ratio[i] > 0, "holds an error that is not positive")
		}
	}
	if c.In != nil && errors != [Parts + 1]ring{} {
		s.errors = &errors
	}
}

// AppendBinary appends a snapshot of the trail to dst. It never fails. O(1), at most 50 bytes.
func (t *Trail) AppendBinary(dst []byte) ([]byte, error) {
	c := snapshot.Codec{Dst: append(dst, snapshotVersion)}
	t.code(&c)
	return snapshot.Seal(c.Dst, len(dst)), nil
}

// UnmarshalBinary sets the trail from a snapshot. If data is not a snapshot, UnmarshalBinary returns an error and
// changes nothing. O(1).
func (t *Trail) UnmarshalBinary(data []byte) error {
	c := snapshot.Codec{In: snapshot.NewReader("estimate/survival: Trail", snapshotVersion, data)}
	var read Trail
	read.code(&c)
	if err := c.In.Close(); err != nil {
		return err
	}
	*t = read
	return nil
}

// code encodes the trail into the codec, or decodes the trail from the codec, depending on the direction of the
// codec.
func (t *Trail) code(c *snapshot.Codec) {
	snapshot.Small(c, &t.n, 0, Parts)
	for i := range t.n {
		snapshot.Small(c, &t.passed[i], 0, math.MaxUint16)
	}
	c.Amount32(&t.age)
	c.Amount32(&t.done)
	c.Check(t.done <= 1, "has done more than its whole work")
}

// curveVersion is the version of the format of the snapshots of a curve.
const curveVersion = 3

// AppendBinary appends a snapshot of the curve to dst. The snapshot contains the values since the latest Reset. A
// curve that is restored from it is fitted to all these values. AppendBinary never fails. O(n), 9 bytes for each
// value.
func (c *Curve) AppendBinary(dst []byte) ([]byte, error) {
	out := snapshot.Codec{Dst: append(dst, curveVersion)}
	c.code(&out)
	return snapshot.Seal(out.Dst, len(dst)), nil
}

// UnmarshalBinary sets the curve from a snapshot, and calls Fit. If data is not a snapshot, UnmarshalBinary returns
// an error and changes nothing. O(n log n).
func (c *Curve) UnmarshalBinary(data []byte) error {
	in := snapshot.Codec{In: snapshot.NewReader("estimate/survival: Curve", curveVersion, data)}
	var read Curve
	read.code(&in)
	if err := in.In.Close(); err != nil {
		return err
	}
	// Fit adds 1 to the number of fits. From the new number, a Without that was set on the old curve sees that it
	// must compute its parts again.
	read.fits = c.fits
	read.Fit()
	*c = read
	return nil
}

// code encodes the curve into the codec, or decodes the curve from the codec, depending on the direction of the
// codec.
func (c *Curve) code(to *snapshot.Codec) {
	to.Bool(&c.Silent)
	snapshot.List(to, &c.values, func(v *value) {
		x, ended := v.x(), v.ended()
		to.Amount(&x)
		to.Bool(&ended)
		*v = valueOf(x+0, ended)
	})
}

// windowVersion is the version of the format of the snapshots of a window.
const windowVersion = 4

// AppendBinary appends a snapshot of the window to dst. It never fails. O(n), about 30 bytes for each run.
func (w *Window) AppendBinary(dst []byte) ([]byte, error) {
	c := snapshot.Codec{Dst: append(dst, windowVersion)}
	w.code(&c)
	return snapshot.Seal(c.Dst, len(dst)), nil
}

// MarshalBinary returns a snapshot of the window; see [Window.AppendBinary].
func (w *Window) MarshalBinary() ([]byte, error) { return w.AppendBinary(nil) }

// UnmarshalBinary sets the window from a snapshot. The window then continues where the encoded window stopped. If
// data is not a snapshot, UnmarshalBinary returns an error and changes nothing. O(n log n).
func (w *Window) UnmarshalBinary(data []byte) error {
	c := snapshot.Codec{In: snapshot.NewReader("estimate/survival: Window", windowVersion, data)}
	var read Window
	read.code(&c)
	if err := c.In.Close(); err != nil {
		return err
	}
	*w = read
	return nil
}

// code encodes the window into the codec, or decodes the window from the codec. After decoding it checks that the
// fields agree with each other.
func (w *Window) code(c *snapshot.Codec) {
	c.Duration(&w.config.Keep)
	c.Text(&w.config.Origin)
	c.Duration(&w.config.MaxSkew)
	c.Valid(w.config == w.config.Effective(), w.config)
	c.Clock(&w.clock)
	latest := w.config.choices().Latest(w.clock)
	snapshot.List(c, &w.runs, c.Duration)
	snapshot.List(c, &w.free, func(id *int) { c.Number(id, 0, len(w.runs)-1) })
	w.past.State(form(), c, latest)
	c.Part(&w.curve)
	c.Bool(&w.valid)
	c.Duration(&w.fitted)
	c.Number(&w.changes, 0, snapshot.Any)
	if !c.Reading() {
		return
	}
	taken := make([]bool, len(w.runs))
	for _, id := range w.free {
		c.Check(!taken[id] && w.runs[id] == -1, "lists a number as free that a run has")
		taken[id] = true
	}
	for id, began := range w.runs {
		c.Check(taken[id] || began >= 0 && began <= latest, "holds a run that began outside the time of the window")
	}
	c.Check(w.fitted >= 0 && w.fitted <= latest, "has a curve that was fitted outside the time of the window")
}
