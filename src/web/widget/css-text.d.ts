/** A style sheet, which the build replaces with its minified text. */
declare module '*.css' {
  const text: string;
  export default text;
}
