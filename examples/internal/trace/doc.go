// Package trace reads execution logs of data-parallel engines, and of much else that runs tasks, into one record per
// attempt.
//
// Open reads a file or the files of a log that was rolled over, Find lists the logs in a directory, Read reads a
// stream. Compression (gzip, zstd, lz4, snappy, bzip2) and format are told by content; docs/format.md lists what is
// known, and describes the normal form, which Write and WriteTable write. Logs are read in one pass: what is held are
// the attempts, about 100 bytes each, never the log. What is wrong with a log is counted in Log.Faults and never
// fatal; a record that is broken costs itself alone. What a log does not say stays unknown and never becomes zero.
// Names are printable, see [Printable], and of bounded length.
//
// # Spark event logs
//
// A phase is one attempt of a stage, named "stage <ID>.<attempt>". An attempt that starts and shows no end is
// Unfinished. A success whose end is repeated with the reason Resubmitted is one attempt, Lost: its executor went
// away with the output, and another attempt did the work again. Losing copies may end after their stage. A phase
// depends on the latest attempt, so far, of each parent stage; a parent that was skipped, because an earlier job left
// its output, is not listed. A phase belongs to the first job that lists its stage, or to the first that lists it
// after that job has ended. Preferred hosts, racks and the moments when tasks became ready are not in these logs.
//
// # Hadoop Rumen traces
//
// A job makes up to two phases, "<job> maps" and "<job> reduces". The maps are submitted when the job is launched; when
// reduces could start is unknown, and so is when either was declared complete. Setup and cleanup attempts are left out
// and counted. Locality follows from the hosts that hold the input, as far as the trace tells racks. Input is what was
// read from HDFS, else the bytes of map input; Output adds what was written to HDFS and what maps left for reduces.
// Whether an attempt was a speculative copy is not in these traces.
//
// # Other formats
//
// What Hadoop's job histories, Spark 0.8, Alibaba's tables, go test, Bazel, timelines, Kubernetes and Argo call a
// phase and a task stands with their readers. Logs without attempts give what they have: phases alone, arrivals of
// jobs, or the racks of hosts, which Log.Place brings into another log.
package trace
