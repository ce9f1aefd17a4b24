// The bundler takes style sheets that are imported into app.css.
declare module "*.css";
