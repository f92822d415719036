// Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

static TW_DEVICE float own_exp(const float x) {
  const float v3 = tw::maximum(x, (-120.0f));
  const float v4 = tw::minimum(v3, 91.0f);
  const float v8 = fmaf(v4, 1.442695f, 12582912.0f);
  const float v9 = v8 - 12582912.0f;
  const int v10 = tw::bits<int>(v8);
  const float v14 = fmaf(v9, (-0.6933594f), v4);
  const float v15 = fmaf(v9, 0.00021219444f, v14);
  const float v20 = fmaf(0.00019890991f, v15, 0.001393365f);
  const float v22 = fmaf(v20, v15, 0.0083333105f);
  const float v24 = fmaf(v22, v15, 0.041666467f);
  const float v26 = fmaf(v24, v15, 0.16666667f);
  const float v28 = fmaf(v26, v15, 0.5f);
  const float v29 = v15 * v15;
  const float v31 = fmaf(v29, v28, v15);
  const float v32 = 1.0f + v31;
  const int v34 = tw::shr(v10, 1);
  const int v35 = tw::sub(v10, v34);
  const int v38 = tw::add(v34, 127);
  const int v39 = tw::shl(v38, 23);
  const float v40 = tw::bits<float>(v39);
  const int v41 = tw::add(v35, 127);
  const int v42 = tw::shl(v41, 23);
  const float v43 = tw::bits<float>(v42);
  const float v44 = v32 * v40;
  const float v45 = v44 * v43;
  return v45;
}

static TW_DEVICE double own_exp(const double x) {
  const double v3 = tw::maximum(x, (-760.0));
  const double v4 = tw::minimum(v3, 712.0);
  const double v8 = fma(v4, 1.4426950408889634, 6755399441055744.0);
  const double v9 = v8 - 6755399441055744.0;
  const long long v10 = tw::bits<long long>(v8);
  const long long v11 = tw::sub(v10, 4843621399236968448ll);
  const double v14 = fma(v9, (-0.6931471803691238), v4);
  const double v15 = fma(v9, (-1.9082149292705877e-10), v14);
  const double v16 = v14 - v15;
  const double v17 = fma(v9, (-1.9082149292705877e-10), v16);
  const double v20 = fma(2.0914686968086876e-9, v15, 2.5105217004720745e-8);
  const double v22 = fma(v20, v15, 2.75572736431103e-7);
  const double v24 = fma(v22, v15, 2.7557255400206422e-6);
  const double v26 = fma(v24, v15, 2.4801587325547743e-5);
  const double v28 = fma(v26, v15, 0.00019841269874820627);
  const double v30 = fma(v28, v15, 0.0013888888888883748);
  const double v32 = fma(v30, v15, 0.008333333333326136);
  const double v34 = fma(v32, v15, 0.04166666666666667);
  const double v36 = fma(v34, v15, 0.1666666666666667);
  const double v38 = fma(v36, v15, 0.5);
  const double v39 = v15 * v15;
  const double v40 = fma(v17, v15, v17);
  const double v41 = fma(v39, v38, v40);
  const double v43 = 1.0 + v15;
  const double v44 = v43 - 1.0;
  const double v45 = v15 - v44;
  const double v46 = v45 + v41;
  const double v47 = v43 + v46;
  const long long v49 = tw::shr(v11, 1ll);
  const long long v50 = tw::sub(v11, v49);
  const long long v53 = tw::add(v49, 1023ll);
  const long long v54 = tw::shl(v53, 52ll);
  const double v55 = tw::bits<double>(v54);
  const long long v56 = tw::add(v50, 1023ll);
  const long long v57 = tw::shl(v56, 52ll);
  const double v58 = tw::bits<double>(v57);
  const double v59 = v47 * v55;
  const double v60 = v59 * v58;
  return v60;
}
