// Package trace reads execution logs of data-parallel engines into one record per attempt.
//
// Open reads a file or a rolling log directory, Read a stream. Compression (none, gzip, zstd) and format are told by
// content. Both read in one pass and hold the attempts, never the log. What is wrong with a log is counted in Log.Faults
// and never fatal; what a log does not say stays unknown and never becomes zero.
//
// # Spark event logs
//
// A phase is one attempt of a stage, named "stage <ID>.<attempt>". An attempt that starts and shows no end is Unfinished.
// A success whose end is repeated with the reason Resubmitted is one attempt, Lost: its executor went away with the
// output, and another attempt did the work again. Losing copies may end after their stage. A phase depends on the latest
// attempt, so far, of each parent stage; a parent that was skipped, because an earlier job left its output, is not listed.
// A phase belongs to the first job that lists its stage, or to the first that lists it after that job has ended.
// Preferred hosts, racks and the moments when tasks became ready are not in these logs.
//
// # Hadoop Rumen traces
//
// A job makes up to two phases, "<job> maps" and "<job> reduces". The maps are submitted when the job is launched; when
// reduces could start is unknown, and so is when either was declared complete. Setup and cleanup attempts are left out
// and counted. Locality follows from the hosts that hold the input, as far as the trace tells racks. Input is what was
// read from HDFS, else the bytes of map input; Output adds what was written to HDFS and what maps left for reduces.
// Whether an attempt was a speculative copy is not in these traces.
//
// # Attempt lines
//
// The normal form of this package, which Write writes and to which other logs are easily converted: one JSON object a
// line, one line an attempt. Unknown fields are left out (null also serves); fields that are not listed are ignored.
//
//	{"job":"j1","phase":"maps","task":0,"attempt":0,"start":1000,"finish":5000,"state":"succeeded","host":"n1"}
//
//	job          name of the job; may be absent
//	phase        name of the phase, unique in its job; required
//	task         index of the logical task in the phase, from 0; required
//	attempt      number of the attempt within the task; 0 if absent
//	ready        when the task could have started, in milliseconds since any epoch, as all times
//	start        when the attempt started
//	finish       when it ended
//	state        succeeded, failed, killed, lost (succeeded, and the output was lost later) or unfinished;
//	             if absent: succeeded if there is a finish, else unfinished
//	host         name of the machine
//	rack         name of its rack
//	executor     name of the process that ran the attempt
//	locality     PROCESS_LOCAL, NODE_LOCAL, NO_PREF, RACK_LOCAL or ANY
//	speculative  true or false
//	input        bytes read from storage
//	shuffle      bytes read from earlier phases
//	output       bytes written
//	preferred    names of the hosts that hold the input
//
// A line with a phase and neither task, attempt, start nor finish describes the phase. It is needed only for what no
// attempt shows:
//
//	{"job":"j1","phase":"reduces","tasks":12,"submitted":900,"completed":9000,"after":["maps"]}
//
//	tasks      number of logical tasks
//	submitted  when the phase could start
//	completed  when it was declared done
//	after      phases, of earlier lines, whose output this one reads: names within the job, or pairs [job, phase]
//
// A line without a phase describes a host or an executor:
//
//	{"host":"n1","rack":"r1"}
//	{"executor":"7","host":"n1","cores":4}
package trace
