package survival_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

func TestRestoredShapeTrailAndCurveAnswerAsBefore(t *testing.T) {
	kind := new(survival.Shape)
	s := kind.Phase()
	for range 20 {
		run(s, 90*time.Second, stalls)
	}
	var trail survival.Trail
	trail.Report(30*time.Second, 0.4)
	var curve survival.Curve
	for i := range 9 {
		curve.Observe(float64(50+i), i%3 > 0)
	}
	curve.Fit()

	data, _ := s.MarshalBinary()
	restored := kind.Phase()
	require.NoError(t, restored.UnmarshalBinary(data))
	snapshottest.Flips(t, data, new(survival.Shape).UnmarshalBinary)
	data, _ = trail.AppendBinary(nil)
	var again survival.Trail
	require.NoError(t, again.UnmarshalBinary(data))
	snapshottest.Flips(t, data, new(survival.Trail).UnmarshalBinary)
	assert.Equal(t, trail, again)
	data, _ = curve.AppendBinary(nil)
	var refitted survival.Curve
	require.NoError(t, refitted.UnmarshalBinary(data))
	snapshottest.Flips(t, data, new(survival.Curve).UnmarshalBinary)

	snapshottest.Kept(t, "shape", s)
	snapshottest.Kept(t, "trail", &trail)
	snapshottest.Kept(t, "curve", &curve)

	p := survival.Prediction{Age: 30, Total: 400, Stage: 4}
	var before, after survival.Outlook
	require.True(t, s.Outlook(&before, p, &curve))
	require.True(t, restored.Outlook(&after, p, &refitted))
	assert.Equal(t, before, after)
	s.Finish(&trail, time.Minute, model)
	restored.Finish(&again, time.Minute, model)
	assert.Equal(t, s.Time(0.5), restored.Time(0.5))
}

func FuzzDecode(f *testing.F) {
	data, _ := new(survival.Shape).MarshalBinary()
	f.Add(snapshottest.Body(data))
	var times survival.Curve
	for i := range 4 {
		times.Observe(float64(10+i), i%2 == 0)
	}
	data, _ = times.AppendBinary(nil)
	f.Add(snapshottest.Body(data))
	f.Add([]byte{snapshot.Version, 2, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		data = snapshottest.Sealed(data)
		s := new(survival.Shape)
		if s.UnmarshalBinary(data) == nil {
			run(s, time.Minute, linear)
		}
		var trail survival.Trail
		if trail.UnmarshalBinary(data) == nil {
			s.Finish(&trail, time.Minute, model)
		}
		var curve survival.Curve
		if curve.UnmarshalBinary(data) == nil {
			curve.Mean()
			again, _ := curve.AppendBinary(nil)
			require.NoError(t, new(survival.Curve).UnmarshalBinary(again))
		}
	})
}
