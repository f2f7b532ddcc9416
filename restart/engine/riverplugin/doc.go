// Package riverplugin rescues and copies jobs of River, a job queue on Postgres (https://riverqueue.com). It rides on the
// jobs that a program inserts and works itself. Inserts, handlers, retries, unique jobs, priorities, schedules, cancel,
// hooks and the web page stay River's.
//
//	plugin, err := riverplugin.New(pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"resize": {Copies: true}}})
//	if err != nil {
//		return err
//	}
//	config.Plugins = append(config.Plugins, plugin)
//	client, err := river.NewClient(riverpgxv5.New(pool), config)
//	err = client.Start(ctx)
//	go plugin.Run(ctx, client)
//
// # What changes for a kind
//
// A kind that [Options.Kinds] does not name is only watched. Nothing about its jobs changes.
//
// In a named kind, a job whose client is lost is put back after five seconds, and sooner if another process begins under the
// client's ID. A job that hangs is ended and put back. A job hangs if it runs for four times the longest run time that the
// plugin has seen in its kind. This needs 32 runs, and the time doubles each time that the same job is rescued because it hung. River alone
// waits for RescueStuckJobsAfter, an hour, and never rescues if JobTimeout is -1. A rescue counts as an attempt with an
// error, as River's own does. So a job that kills its process is discarded after its attempts. With [Kind.Copies] a job that
// hangs first gets a copy, and is rescued if the copy fails or is late.
//
// With [Kind.Copies], a slow job gets a copy on another client. The first of both that succeeds is the result, and the
// other is ended. The copy runs with the job's arguments and tags, and is a row of its own as long as it runs: hooks,
// subscriptions and middleware see it, with its own ID. A copy can only win: its error, panic, snooze or cancel is
// nobody's, and the job goes on.
//
// In all named kinds, only one attempt ends a job. An attempt that has lost its job, since its client was away for a
// while, never completes, retries or cancels the row of its successor, and never changes the recorded output. With River
// alone it does.
//
// # The change to handlers
//
// In named kinds river.JobCompleteTx fails with "job must be running". Use [CompleteTx], and roll the transaction back if
// it returns an error. River's function lets two attempts of a job commit their transactions. For the same reason
// river.ResumableSetStepTx fails. Do not let jobs with resumable steps have copies.
//
// # Middleware
//
// Middleware that runs outside of the plugin's may wrap or swallow the error by which the plugin tells River who has ended a job.
// The job ends in the same way. But Subscribe has no event for a job that its copy has ended, and River's log has an error for
// each attempt that has lost its job. Middleware of a worker, its method Middleware, always runs outside. Put the plugin first in
// Config.Plugins, and leave Config.Middleware to what need not be outside.
package riverplugin
