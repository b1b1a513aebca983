import { DeviceClassifier } from '../../../src/user-agents/device-classifier.ts';

// Preloaded into a real server to add bugs: exceptions whose messages contain submitted values, inside and outside of requests.
const { classifyDevice: classify } = DeviceClassifier.prototype;
DeviceClassifier.prototype.classifyDevice = function (userAgent) {
  if (userAgent?.includes('with-fault')) JSON.parse(userAgent);
  if (userAgent?.includes('with-crash')) setImmediate(() => JSON.parse(userAgent));
  return classify.call(this, userAgent);
};
