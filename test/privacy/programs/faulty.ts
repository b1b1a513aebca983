import { DeviceClassifier } from '../../../src/user-agents/device-classifier.ts';

// Preloaded into a real server to give it bugs of the worst kind: exceptions that quote what was submitted, within a request
// and outside of any.
const { classify } = DeviceClassifier.prototype;
DeviceClassifier.prototype.classify = function (userAgent) {
  if (userAgent?.includes('with-fault')) JSON.parse(userAgent);
  if (userAgent?.includes('with-crash')) setImmediate(() => JSON.parse(userAgent));
  return classify.call(this, userAgent);
};
