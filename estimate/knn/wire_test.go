package knn

import (
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestConfigurationsReadBackFromJSON(t *testing.T) {
	wiretest.Settings(t, Config{Neighbours: 7, Scaling: ScaleNone}, `{"neighbours":7,"scaling":"none"}`)
	wiretest.Settings(t, HistogramConfig{Low: -1, High: 3}, `{"low":-1,"high":3}`)
}
