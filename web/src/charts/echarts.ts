import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer } from "echarts/renderers";

/** The parts of ECharts that the page uses, loaded with the first chart. */
use([
  BarChart,
  CanvasRenderer,
  CustomChart,
  GridComponent,
  LabelLayout,
  LineChart,
  MarkLineComponent,
  ScatterChart,
  TooltipComponent,
]);

export { init };
