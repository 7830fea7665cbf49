import { CustomChart, LineChart } from 'echarts/charts';
import { GridComponent, TooltipComponent } from 'echarts/components';
import { use } from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';

/** The parts of ECharts that maps and plots are made of. */
use([CustomChart, LineChart, GridComponent, TooltipComponent, LabelLayout, SVGRenderer]);

export { default as Chart } from 'vue-echarts';
