package array

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// parseScripts reads the job IDs and commands in the output of squeue. The command of a job is the path of its batch
// script, with arguments. parseScripts returns the jobs whose script is below dir: the key is the first part of the
// script's path below dir, and the value is the job ID.
func parseScripts(out, dir string) map[string]string {
	found := map[string]string{}
	for line := range strings.SplitSeq(out, jobEnd) {
		id, command, _ := strings.Cut(strings.TrimSpace(line), fieldEnd)
		if rest, below := strings.CutPrefix(command, dir+string(filepath.Separator)); below {
			name, _, _ := strings.Cut(rest, string(filepath.Separator))
			found[name] = id
		}
	}
	return found
}

// parseJobs reads the jobs in the output of squeue, one entry for each task. In the output, one line describes one
// task, or several waiting tasks of an array.
func parseJobs(out string) ([]Job, error) {
	var jobs []Job
	for line := range strings.SplitAfterSeq(out, jobEnd+"\n") {
		if line == "" {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, jobEnd+"\n"), fieldEnd)
		if len(f) != len(jobFields) {
			return nil, fmt.Errorf("squeue printed %q, want the fields %v", line, jobFields)
		}
		status, err := strconv.Atoi(f[3])
		if err != nil {
			return nil, fmt.Errorf("squeue printed the exit code %q, want a number, in %q", f[3], line)
		}
		j := Job{ID: f[0], State: f[1], Node: f[2], Status: status, WorkDir: f[7], RawID: f[8], Name: f[9]}
		stdout, stderr := j.pattern(f[5]), j.pattern(f[6])
		j.Shared = shared(stdout) || shared(stderr)
		if seconds, err := strconv.ParseInt(f[4], 10, 64); err == nil { // squeue prints "N/A" if the start is not known
			j.Start = time.Unix(seconds, 0)
		}
		ids, err := taskIDs(f[0])
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			j.ID = id
			j.Stdout, j.Stderr = expand(stdout, j), expand(stderr, j)
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// taskIDs returns the IDs of the tasks that squeue shows as one ID. For example, "71_[3-4%2]" gives "71_3" and
// "71_4". If the ID has no brackets, taskIDs returns the ID itself.
func taskIDs(id string) ([]string, error) {
	array, list, found := strings.Cut(id, "_[")
	if !found {
		return []string{id}, nil
	}
	tasks, err := parseTasks(nil, strings.TrimSuffix(list, "]"))
	if err != nil {
		return nil, fmt.Errorf("squeue printed the job ID %.80q: %w", id, err)
	}
	ids := make([]string, len(tasks))
	for i, task := range tasks {
		ids[i] = array + "_" + strconv.Itoa(task)
	}
	return ids, nil
}

// parseFacts reads the facts about an array from a line that scontrol show job prints.
func parseFacts(out string) (Facts, error) {
	partition, cpus := partitionField.FindStringSubmatch(out), cpusField.FindStringSubmatch(out)
	if partition == nil || cpus == nil {
		return Facts{}, fmt.Errorf("scontrol printed %q, want the fields Partition and NumCPUs", out)
	}
	f := Facts{Partition: partition[1]}
	f.CPUs, _ = strconv.Atoi(cpus[1])
	f.CPUs = max(f.CPUs, 1)
	if exclude := excludeField.FindStringSubmatch(out); exclude != nil && exclude[1] != "(null)" {
		f.Exclude = exclude[1]
	}
	if throttle := throttleField.FindStringSubmatch(out); throttle != nil {
		f.Throttle, _ = strconv.Atoi(throttle[1])
	}
	return f, nil
}

// parseNodes reads the nodes in the output of sinfo. A line is, for example, "n0|mixed|2/14/0/16": the node's name,
// its state, and the numbers of its allocated, idle, other and all CPUs. sinfo may list a node several times.
// parseNodes returns each node once.
func parseNodes(out string) (nodes []Node, err error) {
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			return nil, fmt.Errorf("sinfo printed %q, want node|state|CPUs", line)
		}
		n := Node{Name: f[0], Down: unusable.MatchString(f[1])}
		var allocated, other, all int
		if _, err := fmt.Sscanf(f[2], "%d/%d/%d/%d", &allocated, &n.Idle, &other, &all); err != nil {
			return nil, fmt.Errorf("sinfo printed the CPUs %q, want four numbers", f[2])
		}
		if !seen[n.Name] {
			seen[n.Name] = true
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}
