package estimate

import (
	"github.com/straggler-go/straggler/internal/snapshot"
)

const progressVersion = 2

// AppendBinary appends a snapshot of what a copy's reports have shown. It never fails. O(1).
func (p *Progress) AppendBinary(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = snapshot.AppendInt(append(dst, progressVersion), int64(p.at))
	dst = snapshot.AppendFloat(snapshot.AppendFloat(snapshot.AppendFloat(dst, p.done), p.read), p.passed)
	return snapshot.Seal(dst, from), nil
}

// UnmarshalBinary sets p to what was written. What is not a snapshot is an error, and leaves p as it was. O(1).
func (p *Progress) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("estimate: Progress", progressVersion, data)
	read := Progress{at: r.Duration(), done: r.Amount(), read: r.Amount(), passed: r.Amount()}
	err := r.Close()
	if err == nil {
		*p = read
	}
	return err
}
