package outlier

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/wire"
)

func (v *Verdict) wire(c *wire.Codec) {
	c.Flag("overloaded", &v.Overloaded, "fine", "overloaded")
	c.Word("reason", &v.Reason)
	c.When(true).Duration("laxity", &v.Laxity)
	if v.Threshold != 0 {
		c.When(true).Duration("bar", &v.Bar)
		wire.Limit(c.When(true), "lof", &v.LOF)
		c.Float("threshold", &v.Threshold)
	}
}

// String returns the verdict as one line. LogValue returns the same fields for
// log/slog. MarshalJSON writes the same fields.
func (v Verdict) String() string               { return wire.Line(v.wire) }
func (v Verdict) LogValue() slog.Value         { return wire.Log(v.wire) }
func (v Verdict) MarshalJSON() ([]byte, error) { return wire.JSON(v.wire) }
