package queue_test

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
)

func TestMemory(t *testing.T) {
	queuetest.Test(t, func(*testing.T) queuetest.Backend {
		m := queuetest.NewMemory(time.Now)
		return queuetest.Backend{
			Store: m, Source: m,
			Insert: func(batch string, jobs []queue.Job) error { m.Insert(batch, jobs...); return nil },
			Results: func(batch string) ([]queue.Result, bool, error) {
				all, ended := m.Results(batch)
				return all, ended, nil
			},
		}
	})
}
