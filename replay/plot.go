package replay

import (
	"fmt"

	"github.com/agentcompact/compact/internal/chart"
)

// plot is a chart with the elements that only pages of replay have.
type plot struct{ *chart.Plot }

func newPlot(width, height float64) *plot { return &plot{chart.New(width, height)} }

func percent(v float64) string { return fmt.Sprintf("%.4g %%", 100*v) }
