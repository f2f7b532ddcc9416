// Package trace reads execution logs into one record for each attempt of a task. It knows the logs of data-parallel
// engines, and of many other systems that run tasks.
//
// Open reads a file, or the files of a rolled log. Find lists the logs in a directory. Read reads a stream. The
// package recognises compression (gzip, zstd, lz4, snappy, bzip2) and format by content. docs/format.md lists the
// formats, and describes the normal form, which Write and WriteTable write. A log is read in one pass. The memory
// holds only the attempts, about 100 bytes each. Errors in a log are counted in Log.Faults and do not stop the
// reading. A broken record loses only itself. A value that the log does not have is unknown, never 0. Names are
// printable, see [Printable], and of bounded length.
//
// # Spark event logs
//
//   - A phase is one attempt of a stage, with the name "stage <ID>.<attempt>".
//   - An attempt with a start and without an end is Unfinished.
//   - If the end of a successful attempt is repeated with the reason Resubmitted, the attempt is Lost: its executor
//     was lost with the output, and another attempt does the work again.
//   - Attempts that lost may end after their stage.
//   - A phase depends on the latest attempt of each parent stage. A parent stage that was skipped, because an
//     earlier job left its output, is not listed.
//   - A phase belongs to the first job that lists its stage, or to the first such job after that job has ended.
//   - These logs do not have preferred hosts, racks, and the times when tasks became ready.
//
// # Hadoop Rumen traces
//
//   - A job has up to two phases, "<job> maps" and "<job> reduces". The maps are submitted when the job is launched.
//     The times when reduces could start, and when either phase was complete, are unknown.
//   - Setup and cleanup attempts are left out and counted.
//   - Locality comes from the hosts that hold the input, if the trace has racks.
//   - Input is the number of bytes read from HDFS, or otherwise the bytes of map input. Output has the bytes written
//     to HDFS, and the bytes that maps wrote for reduces.
//   - These traces do not show which attempts are speculative copies.
//
// # Other formats
//
// The comments of the other readers describe their phases and tasks. A log without attempts has only phases, arrivals
// of jobs, or racks of hosts; Log.Place copies racks into another log.
package trace
