// Package asynqplugin copies slow tasks of asynq, a task queue on Redis (https://github.com/hibiken/asynq), and ends attempts
// that hang. It rides on the tasks that a program enqueues and handles itself. Retries, unique tasks, schedules, retention,
// the inspector and the web page stay asynq's.
//
//	plugin, err := asynqplugin.New(conn, asynqplugin.Options{Kinds: map[string]asynqplugin.Kind{"resize": {Copies: true}}})
//	if err != nil {
//		return err
//	}
//	go plugin.Run(ctx)
//	mux.Use(plugin.Middleware)
//
// # What changes for a kind
//
// A kind is the type of a task. A kind that [Options.Kinds] does not name is only watched. Nothing about its tasks changes.
//
// In a named kind, an attempt that hangs is ended with [ErrHangs], and asynq tries the task again by its own rules. An attempt
// hangs if it runs for four times the longest run time that the plugin has seen in its kind. This needs 32 runs. The time is at
// least 20 intervals, and doubles with each failure of the task.
//
// With [Kind.Copies], a slow task gets a copy on another server. The first of both that succeeds is the result, and the
// other is ended. The copy runs with the payload of the task, and is a task of its own as long as it runs. A copy can
// only win: its error, panic, SkipRetry or RevokeTask is nobody's, and the task goes on. An attempt that fails ends its
// copy. An attempt that hangs first gets a copy, and is ended if the copy fails, or is not ready after twice that time.
//
// # What it can't do
//
// No call of asynq ends the task of another server. So an attempt ends in its own process, with the result of the copy. If
// the server of the attempt is lost, its task stays with asynq until asynq recovers it, after one to two minutes and the delay of
// a retry. A copy may have done the work long before: then the next attempt ends at once, with the copy's result.
package asynqplugin
