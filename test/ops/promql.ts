import { parser } from '@prometheus-io/lezer-promql';

/** One series looked at by an expression. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
  /** The functions it is within, innermost first. */
  readonly functions: readonly string[];
  /** Labels that the expression sorts it by or joins it on. */
  readonly groupedBy: readonly string[];
}

interface PromQl {
  /** Where it cannot be parsed, the text from there on. */
  readonly fault: string | null;
  readonly selectors: readonly Selector[];
}

/** Takes a PromQL expression apart; what stands for a time span in Grafana is replaced by one. */
export function parsePromQl(expression: string): PromQl {
  const text = expression.replaceAll(/\$__(rate_interval|range|interval)\b/g, '5m');
  let fault: string | null = null;
  const selectors: Selector[] = [];
  const textOf = (part: { readonly from: number; readonly to: number } | null): string =>
    part === null ? '' : text.slice(part.from, part.to);
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) fault ??= text.slice(node.from);
      if (type.name !== 'VectorSelector') return;
      const functions: string[] = [];
      const groupedBy: string[] = [];
      for (let around = node.parent; around !== null; around = around.parent) {
        if (around.name === 'FunctionCall') functions.push(textOf(around.getChild('FunctionIdentifier')));
        for (const modifier of [around.getChild('AggregateModifier'), around.getChild('MatchingModifierClause')]) {
          for (const labels of modifier?.getChildren('GroupingLabels') ?? []) {
            groupedBy.push(...labels.getChildren('LabelName').map(textOf));
          }
        }
      }
      const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => ({
        label: textOf(matcher.getChild('LabelName')),
        operator: textOf(matcher.getChild('MatchOp')),
        value: textOf(matcher.getChild('StringLiteral')).slice(1, -1),
      }));
      selectors.push({ metric: textOf(node.getChild('Identifier')), matchers, functions, groupedBy });
    },
  });
  return { fault, selectors };
}
