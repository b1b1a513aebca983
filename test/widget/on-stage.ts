import { after, before, describe } from 'node:test';
import { WidgetStage } from './widget-stage.ts';

/** Declares tests on one stage; it is to be asked for inside a test, when it is there. */
export function onStage(subject: string, declare: (stage: () => WidgetStage) => void): void {
  describe(subject, () => {
    let stage: WidgetStage | undefined;
    before(async () => {
      stage = await WidgetStage.start();
    });
    after(() => stage?.close());
    declare(() => stage!);
  });
}
