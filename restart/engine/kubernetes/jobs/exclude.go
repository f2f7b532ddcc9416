package jobs

import v1 "k8s.io/api/core/v1"

// exclude adds to the affinity of a pod that the pod must not run on the nodes with these names, and returns the
// affinity. It adds this requirement to each term, because the scheduler accepts a node that matches one term. If
// soft is true, exclude only adds that the pod prefers other nodes.
func exclude(a *v1.Affinity, nodes []string, soft bool) *v1.Affinity {
	if a == nil {
		a = &v1.Affinity{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &v1.NodeAffinity{}
	}
	not := make([]v1.NodeSelectorRequirement, len(nodes))
	for i, name := range nodes {
		not[i] = v1.NodeSelectorRequirement{Key: "metadata.name", Operator: v1.NodeSelectorOpNotIn, Values: []string{name}}
	}
	if soft {
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
			a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
			v1.PreferredSchedulingTerm{Weight: 100, Preference: v1.NodeSelectorTerm{MatchFields: not}})
		return a
	}
	required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{}}}
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	for i := range required.NodeSelectorTerms {
		t := &required.NodeSelectorTerms[i]
		t.MatchFields = append(t.MatchFields, not...)
	}
	return a
}
