package survival

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// AppendBinary appends a snapshot of the shape to dst. The snapshot does not contain the shape of the kind (of all
// phases that do the same work). AppendBinary never fails. O(1), about 1 kB.
func (s *Shape) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, s.code)
}

// MarshalBinary returns a snapshot of the shape; see [Shape.AppendBinary].
func (s *Shape) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary sets the shape from a snapshot. If s was made by [Shape.Phase], the shape of its kind continues to
// learn from s. If data is not a snapshot, UnmarshalBinary returns an error and changes nothing. O(1).
func (s *Shape) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Shape{kind: s.kind}, data, snapshot.Version, s, (*Shape).code)
}

// code encodes the shape into the codec, or decodes the shape from the codec, depending on the direction of the
// codec.
func (s *Shape) code(c *snapshot.Codec) {
	c.Field(1, "offsets")
	for k := 1; k < Parts; k++ {
		c.Real(&s.offsets[k])
		c.Check(s.offsets[k] >= -1 && s.offsets[k] <= 1, "holds an offset outside [-1, 1]")
	}
	c.Field(2, "attempts").Amount(&s.attempts)
	c.Check(s.attempts <= shapeMemory, "counts more than 50 attempts in the mean shape")
	c.Field(3, "bent").Bool(&s.bent)
	c.Field(4, "finished").Number(&s.finished, 0, snapshot.Any)
	c.Field(5, "places")
	for k := range s.places {
		snapshot.Small(c, &s.places[k], 0, math.MaxInt32)
	}
	c.Field(6, "errors")
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
	if !c.Writes() && errors != [Parts + 1]ring{} {
		s.errors = &errors
	}
}

// AppendBinary appends a snapshot of the trail to dst. It never fails. O(1), at most 50 bytes.
func (t *Trail) AppendBinary(dst []byte) ([]byte, error) {
	c := snapshot.Codec{Dst: append(dst, snapshot.Version)}
	t.code(&c)
	return c.Sealed(len(dst)), nil
}

// UnmarshalBinary sets the trail from a snapshot. If data is not a snapshot, UnmarshalBinary returns an error and
// changes nothing. O(1).
func (t *Trail) UnmarshalBinary(data []byte) error {
	c := snapshot.Codec{In: snapshot.NewReader("estimate/survival: Trail", snapshot.Version, data)}
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
	snapshot.Small(c.Field(1, "trail"), &t.n, 0, Parts)
	for i := range t.n {
		snapshot.Small(c, &t.passed[i], 0, math.MaxUint16)
	}
	c.Amount32(&t.age)
	c.Amount32(&t.done)
	c.Check(t.done <= 1, "has done more than its whole work")
}

// AppendBinary appends a snapshot of the curve to dst. The snapshot contains the values since the latest Reset. A
// curve that is restored from it is fitted to all these values. AppendBinary never fails. O(n), 9 bytes for each
// value.
func (c *Curve) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, c.code)
}

// UnmarshalBinary sets the curve from a snapshot, and calls Fit. If data is not a snapshot, UnmarshalBinary returns
// an error and changes nothing. O(n log n).
func (c *Curve) UnmarshalBinary(data []byte) error {
	var read Curve
	if err := snapshot.Restore(data, snapshot.Version, &read, (*Curve).code); err != nil {
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
	to.Field(1, "silent").Bool(&c.Silent)
	snapshot.List(to.Field(2, "values"), &c.values, func(v *value) {
		x, ended := v.x(), v.ended()
		to.Amount(&x)
		to.Check(x <= estimate.MaxSample, "holds a value beyond estimate.MaxSample")
		to.Bool(&ended)
		*v = valueOf(x+0, ended)
	})
}
