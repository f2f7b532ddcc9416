package fairshare

import (
	"encoding/json"
	"math"
)

// MarshalJSON implements [json.Marshaler]. A level of +Inf, where all have all they want, is null.
func (s Share) MarshalJSON() ([]byte, error) {
	type plain Share
	at := &s.Level
	if math.IsInf(s.Level, 1) {
		s.Level, at = 0, nil
	}
	return json.Marshal(struct {
		plain
		Level *float64
	}{plain(s), at})
}
