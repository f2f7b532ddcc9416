package batch_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynq/batch"
)

// If asynq refuses a task, Run returns an error at once.
func TestRefusedTaskIsAnError(t *testing.T) {
	at := startRedis(t)
	for name, bad := range map[string]*asynq.Task{
		"nil":     nil,
		"no type": asynq.NewTask("", nil),
		"option":  asynq.NewTask("square", nil, asynq.TaskID(" ")),
		"size":    asynq.NewTask("square", make([]byte, 512<<20+1)),
	} {
		_, err := batch.Run(t.Context(), at, "refused", append(squares(2), bad), options())
		assert.ErrorContains(t, err, "batch: task 2", name)
	}
	o := options()
	o.Enqueue = []asynq.Option{asynq.Queue("")}
	_, err := batch.Run(t.Context(), at, "refused", squares(2), o)
	assert.ErrorContains(t, err, "batch: task 0: asynq refuses it: queue name")
}

// A task with a deadline in the past fails for good, with asynq's error. asynq archives it without a call of the handler.
func TestPastDeadlineFailsForGood(t *testing.T) {
	at := startRedis(t)
	startWorker(t, at, "a", after(time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	late := asynq.NewTask("square", []byte("2"), asynq.Deadline(time.Now().Add(-time.Hour)))
	out, err := batch.Run(ctx, at, "late", append(squares(2), late), options())
	require.ErrorContains(t, err, "1 of 3 tasks have failed for good; the last error of task 2: context deadline exceeded")
	assert.Equal(t, []int{2}, out.Failed)
	assert.Equal(t, "1", string(out.Results[1].Data))
}

// If a handler writes its result by asynq's ResultWriter, its attempt fails with an error that says what to do.
func TestMisplacedResultIsAnError(t *testing.T) {
	at := startRedis(t)
	startWorker(t, at, "a", func(_ context.Context, task *asynq.Task) error {
		_, err := task.ResultWriter().Write([]byte("here"))
		return err
	})
	_, err := batch.Run(t.Context(), at, "misplaced", squares(1), options())
	require.ErrorContains(t, err, "use batch.WriteResult")
}

// Run waits for a first worker, and logs a warning after ten seconds.
func TestNoWorkerIsLogged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes ten seconds")
	}
	at := startRedis(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 12*time.Second, errors.New("long enough"))
	defer cancel()
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	_, err := batch.Run(ctx, at, "alone", squares(1), o)
	require.ErrorContains(t, err, "long enough")
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("there is no worker")), log.String())
}
