// `weir flow draw`

import { type Direction, drawMermaid } from '../../flow/drawing/mermaid.ts';
import type { Printer } from '../output/printer.ts';
import { flowOfFile } from './flow-argument.ts';

export function drawFlow(path: string, direction: Direction, printer: Printer): void {
  printer.line(drawMermaid(flowOfFile(path), direction).trimEnd());
}
