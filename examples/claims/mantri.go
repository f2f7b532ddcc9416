package main

// mantriRuns are the experiments of the rows of Mantri [OSDI 2010].
var mantriRuns = map[string]func(seed uint64) []float64{
	"M1": figure9,
	"M2": pseudocode1,
	"M3": grahamsOrder,
	"M4": grahamsBound,
	"M5": func(seed uint64) []float64 {
		s := phasesOf(seed)
		m := &s.policies[mantri]
		return []float64{
			m.sooner(0.5), m.sooner(0.75), m.used.quantile(0.5), m.used.quantile(0.75), s.restarts.sooner(0.5), s.restarts.sooner(0.75),
			s.order.sooner(0.5), s.order.sooner(0.75),
		}
	},
	"M6": func(seed uint64) []float64 {
		p := phasesOf(seed).policies
		return []float64{
			p[hadoop].sooner(0.5), -p[hadoop].used.mean(), p[mapReduce].notHelped(), p[dryad].notHelped(),
			p[dryad].sooner(0.3), p[late].sooner(0.5) - p[hadoop].sooner(0.5),
			p[late].used.mean() - p[hadoop].used.mean(), p[hadoop].sooner(0.75),
		}
	},
	"M7": func(seed uint64) []float64 {
		p := phasesOf(seed).policies
		return []float64{
			p[mantri].success(), p[late].success(), p[hadoop].success() - p[late].success(),
			p[dryad].success() - p[late].success(), p[mantri].averagePhase(), p[dryad].averagePhase(),
			p[late].averagePhase(), p[hadoop].averagePhase(),
		}
	},
	"M8": func(seed uint64) []float64 {
		p := phasesOf(seed).policies
		return []float64{
			p[early].sooner(0.3) - p[late].sooner(0.3), p[early].sooner(0.3), p[late].used.mean() - p[early].used.mean(),
		}
	},
	"M9": func(seed uint64) []float64 {
		s := phasesOf(seed)
		m, even := s.policies[mantri].sooner(0.5), s.noSkew.sooner(0.5)
		return []float64{
			m - even, s.chopTail.sooner(0.5) - m, even, s.restarts.sooner(0.5) - even,
			s.pureMantri.sooner(0.5) - s.pureNoSkew.sooner(0.5),
		}
	},
	"M10": func(seed uint64) []float64 { s := shuffles(seed); return s.rates },
	"M11": func(seed uint64) []float64 { s := shuffles(seed); return s.spread },
	"M12": lostOutputs,
	"M13": withoutOutliers,
	"M15": func(seed uint64) []float64 {
		m, d := &phasesOf(seed).policies[mantri], &phasesOf(seed).policies[dryad]
		return []float64{m.before(0.42), d.before(0.77), float64(m.copies) / float64(d.copies), m.success() / d.success()}
	},
}
